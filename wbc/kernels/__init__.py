"""Compiled inner loops: readable Python with the equations that it implements, compiled by numba."""
