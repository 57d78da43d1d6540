"""What tests/run is made of: sections, what they count, PHP's own runner for phpt."""
