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

    /// The number of its host, where the answers of that are logged.
    pub(crate) fn noting(&self) -> Option<u16> {
        self.site().config.noted.is_some().then(|| self.host.get())
    }

    /// Notes which host a request is for; or why it is refused there.
    #[inline]
    pub(crate) fn choose_host(&self, inner: &Inner) -> Result<(), Reject> {
        if let Some(hosts) = &self.port.hosts {
            self.host.set(0);
            self.host.set(hosts.choose(inner, &self.info)?);
            too_large(inner, &self.site().config)?;
        }
        Ok(())
    }
}
