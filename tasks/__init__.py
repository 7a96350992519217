"""Tasks and limits, one a file."""

from wbc.tasks.axle_contact import AxleContact
from wbc.tasks.com import ComTask
from wbc.tasks.distance import DistanceTask
from wbc.tasks.gaze import GazeTask
from wbc.tasks.joint_limits import JointLimits
from wbc.tasks.manipulability import ManipulabilityTask
from wbc.tasks.momentum import MomentumTask
from wbc.tasks.obstacle import HalfSpace, ObstacleTask, Sphere
from wbc.tasks.orientation import OrientationTask
from wbc.tasks.point_contact import PointContact
from wbc.tasks.pose import PoseTask
from wbc.tasks.position import PositionTask
from wbc.tasks.posture import PostureTask
from wbc.tasks.relative_pose import RelativePoseTask
from wbc.tasks.surface_contact import SurfaceContact
from wbc.tasks.torque import TorqueTask
from wbc.tasks.torque_limits import TorqueLimits
from wbc.tasks.upright import UprightTask
from wbc.tasks.wrench import WrenchTask

__all__ = [
    "AxleContact",
    "ComTask",
    "DistanceTask",
    "GazeTask",
    "HalfSpace",
    "JointLimits",
    "ManipulabilityTask",
    "MomentumTask",
    "ObstacleTask",
    "OrientationTask",
    "PointContact",
    "PoseTask",
    "PositionTask",
    "PostureTask",
    "RelativePoseTask",
    "Sphere",
    "SurfaceContact",
    "TorqueLimits",
    "TorqueTask",
    "UprightTask",
    "WrenchTask",
]
