# Two targets: `make demo` runs the main job, `make test` the test suite. Both make .venv when it is missing.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MUJOCO_GL ?= egl

.PHONY: demo test

demo: $(STAMP)
	$(BIN)/wbc run panda-figure --save out/panda-figure.npz --plot out/panda-figure.png

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist loadgroup

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, $(PYTHON) is older: apt install python3.11, then make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python has no venv module: apt install python3-venv"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --upgrade pip
	$(BIN)/python -m pip install -qq --editable '.[all,dev]'
	@touch $(STAMP)
