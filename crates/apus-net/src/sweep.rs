//! The one timer of a worker.

use std::rc::Rc;
use std::time::Duration;

use crate::control::Control;

/// How exact deadlines are: the clock that they are measured with moves on this often.
const PERIOD: Duration = Duration::from_millis(250);

/// Looks at the deadlines of all connections, several times a second; sleeps for good while there is none. Never ends.
pub(crate) async fn run(control: Rc<Control>) {
    let worker = Rc::clone(&control.worker);
    loop {
        if worker.connections() == 0 {
            worker.rest();
            worker.busy.notified().await;
        }
        worker.clock.refresh();
        if !worker.clock.is_manual() {
            control.sweep();
        }
        // At whole periods of the clock: so are looks that are some of them apart.
        tokio::time::sleep(worker.clock.until_next(PERIOD)).await;
    }
}
