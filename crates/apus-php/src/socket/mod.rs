//! Sockets that PHP code drives itself: `Coroutine\Socket`, `Coroutine\Client` and the blocking `Client`.
//!
//! [`core`] is one socket; [`run`] waits for it; [`methods`], [`client`] and [`blocking`] are the methods of the three
//! classes, the latter two over [`peer`]; [`serve`] is what `Coroutine\Server` needs of them.

mod address;
mod blocking;
mod client;
mod connect;
mod core;
mod descriptor;
mod direction;
mod fault;
mod import;
mod kept;
mod methods;
mod multicast;
mod object;
mod option;
mod packet;
mod peer;
mod run;
mod serve;
mod settings;
mod stream;
pub(crate) mod tls;

use apus_zend::class::Class;

pub(crate) use import::{close_copy, is_copy_closed, socket_of};
pub(crate) use methods::SOCKET;
pub(crate) use serve::{
    Accepted, Accepting, Listening, as_socket, descriptor_of, merged_settings, over, peer_close, peer_recv, peer_send,
    shake,
};
pub(crate) use settings::tolerable;

/// The classes of this room, parents first.
pub(crate) static ALL: &[&Class] = &[&SOCKET, &client::CLIENT, &client::BLOCKING];

apus_zend::stub!("socket/functions");
