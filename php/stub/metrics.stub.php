<?php

namespace Apus\Metrics;

/**
 * A count that only grows: orders taken, bytes written, attempts that failed. One value over all workers, which a
 * reload and the end of a worker leave as it is. Make it before the server starts; it is then told at
 * `metrics_address`, beside the server's own figures. Making one of the same name with the same help, labels and number
 * of series again gives the same one, also in a worker.
 *
 * Each combination of labels is a series of its own, made when it is first counted, and stays. There are at most
 * $series; what comes beyond is counted in one series whose labels are all "other", and the log says so once. Of a
 * label 128 bytes count.
 */
final class Counter
{
    // @rust module counter
    // @rust typed

    /**
     * @param string $name letters, digits and underscores; "_total" is added unless it is there. Not apus_…
     * @param string $help what it counts, in a sentence
     * @param list<string> $labels names of at most 8 labels
     * @param int $series at most, 1 to 10,000
     * @throws \ValueError for anything else
     * @throws \Apus\Metrics\Exception DIFFERENT, LATE, TOO_MANY, NO_MEMORY
     */
    public function __construct(string $name, string $help = '', array $labels = [], int $series = 1000) {}

    /**
     * Adds, in one atomic step.
     * @param float $by 0 or more
     * @param string ...$labels values of the labels, in their order
     * @throws \ValueError for less than 0, or what is not finite
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function add(float $by = 1, string ...$labels): void {}

    /**
     * The value over all workers; 0 for labels that were never counted.
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function get(string ...$labels): float {}
}

/**
 * A value that goes up and down: jobs that wait, a temperature, users who are there. As Apus\Metrics\Counter, one value
 * over all workers. A worker that is killed leaves what it has added.
 */
final class Gauge
{
    // @rust module gauge
    // @rust typed

    /**
     * @param string $name letters, digits and underscores. Not apus_…, and none of the endings that other metrics have:
     * _total, _created, _bucket, _count, _sum, _info
     * @param string $help what it measures, in a sentence
     * @param list<string> $labels names of at most 8 labels
     * @param int $series at most, 1 to 10,000
     * @throws \ValueError for anything else
     * @throws \Apus\Metrics\Exception DIFFERENT, LATE, TOO_MANY, NO_MEMORY
     */
    public function __construct(string $name, string $help = '', array $labels = [], int $series = 1000) {}

    /**
     * Sets it.
     * @param float $value a finite number
     * @param string ...$labels values of the labels, in their order
     * @throws \ValueError for another value
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function set(float $value, string ...$labels): void {}

    /**
     * Adds, in one atomic step.
     * @param float $by a finite number
     * @param string ...$labels values of the labels, in their order
     * @throws \ValueError for another number
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function add(float $by = 1, string ...$labels): void {}

    /**
     * Subtracts, in one atomic step.
     * @param float $by a finite number
     * @param string ...$labels values of the labels, in their order
     * @throws \ValueError for another number
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function sub(float $by = 1, string ...$labels): void {}

    /**
     * The value over all workers; 0 for labels that were never used.
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function get(string ...$labels): float {}
}

/**
 * How values spread: how many are at most as large as each of some bounds, how many there are, and their sum. As
 * Apus\Metrics\Counter, over all workers.
 */
final class Histogram
{
    // @rust module histogram
    // @rust typed

    /**
     * @param string $name as of a gauge; the base unit belongs to it: _seconds, _bytes
     * @param string $help what it measures, in a sentence
     * @param list<string> $labels names of at most 8 labels, "le" not among them
     * @param list<float> $buckets bounds, at most 64, ascending; none for 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
     * 2.5, 5 and 10
     * @param int $series at most, 1 to 10,000
     * @throws \ValueError for anything else
     * @throws \Apus\Metrics\Exception DIFFERENT, LATE, TOO_MANY, NO_MEMORY
     */
    public function __construct(string $name, string $help = '', array $labels = [], array $buckets = [], int $series = 1000) {}

    /**
     * Counts a value.
     * @param float $value a finite number
     * @param string ...$labels values of the labels, in their order
     * @throws \ValueError for another value
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function observe(float $value, string ...$labels): void {}

    /**
     * How many values were counted, over all workers.
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function count(string ...$labels): int {}

    /**
     * Their sum.
     * @throws \Apus\Metrics\Exception LABELS
     * Does not wait.
     */
    public function sum(string ...$labels): float {}
}

/**
 * All metrics that this program has made, in Prometheus' text form: for programs that have no `metrics_address`.
 * Does not wait.
 * @rust typed
 */
function render(): string {}
