//! The declaration of `Apus\Coroutine\Http2\Client`.

use super::REQUEST;

apus_zend::stub!("client/http2/class");
