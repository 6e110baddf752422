"""Robust regression on features that arrive as a stream.

>>> from roofs import RoOFSRegressor
>>> RoOFSRegressor(n_nonzero_coefs=50)
RoOFSRegressor(n_nonzero_coefs=50)
"""
from ._answers import UntrustedSample
from ._groups import CredibleGroup
from ._library import methods, version
from ._warnings import ConvergenceWarning, DataWarning, RoOFSWarning, TrustWarning
from .display import RoOFSDisplay
from .orders import selection_frequency
from .path_cv import RoOFSRegressorCV
from .regressor import RoOFSRegressor

__version__ = version()
__all__ = ["ConvergenceWarning", "CredibleGroup", "DataWarning", "RoOFSDisplay", "RoOFSRegressor", "RoOFSRegressorCV",
           "RoOFSWarning", "TrustWarning", "UntrustedSample", "methods", "selection_frequency"]
