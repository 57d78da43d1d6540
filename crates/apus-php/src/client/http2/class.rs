//! The declaration of `Apus\Coroutine\Http2\Client`.

apus_zend::stub!("client/http2/class");
