//! HTTP/1.1 as this server writes it.

mod head;

pub use head::DEFAULT_TYPE;
pub(crate) use head::{
    Answer, PERMANENT_REDIRECT, adorned, close_after, plan, write_error, write_fields, write_head, write_interim,
    write_redirect, write_refusal,
};
