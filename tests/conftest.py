"""Marks of the tests."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "environment: makes a virtual environment; run with WBC_TEST_ENVIRONMENTS=1")
