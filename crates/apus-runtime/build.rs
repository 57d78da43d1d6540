//! Makes the tables of what `php/stub` declares and this crate implements.

fn main() {
    apus_stub::build_script(apus_stub::Part { rooms: &["exception.stub.php"], seen: "pub" });
}
