//! The functions of this room.
