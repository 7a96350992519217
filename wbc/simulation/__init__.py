"""Simulation: physics to try a controller in, runs, recordings and pictures."""

from wbc.simulation.disturbance import push
from wbc.simulation.recording import Recording
from wbc.simulation.simulate import simulate

__all__ = ["Recording", "push", "simulate"]
