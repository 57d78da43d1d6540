//! The declaration of `Apus\Coroutine\Http\Client`.

use super::{execute, plain, websocket};

apus_zend::stub!("client/http/class");
