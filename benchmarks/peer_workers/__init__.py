"""Programs that run a peer in the peer's own environment; they know nothing of wbc but the files of a scene."""
