"""Robust regression on features that arrive as a stream.

>>> from roofs import RoOFSRegressor
>>> RoOFSRegressor(n_nonzero_coefs=50)
RoOFSRegressor(n_nonzero_coefs=50)
"""
from ._library import methods, version
from .regressor import RoOFSRegressor

__version__ = version()
__all__ = ["RoOFSRegressor", "methods"]
