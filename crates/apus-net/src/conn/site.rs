//! Which host of its port a request is for.

use std::rc::Rc;

use apus_proto::http1::Reject;

use super::Conn;
use crate::head_bytes::Inner;
use crate::port::{Port, too_large};

impl Conn {
    /// What the current request is treated by: its host, else the port.
    #[inline]
    pub(crate) fn site(&self) -> &Rc<Port> {
        match &self.port.hosts {
            None => &self.port,
            Some(hosts) => hosts.site(self.host.get(), &self.port),
        }
    }

    /// Notes which host a request is for; or why it is refused there.
    #[inline]
    pub(crate) fn choose_host(&self, inner: &Inner) -> Result<(), Reject> {
        if let Some(hosts) = &self.port.hosts {
            self.host.set(hosts.choose(inner, &self.info)?);
            too_large(inner, &self.site().config)?;
        }
        Ok(())
    }
}
