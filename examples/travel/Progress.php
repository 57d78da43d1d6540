<?php

declare(strict_types=1);

namespace Apus\Travel;

/** What has been done, how fast, and how much of all: one updating line on a terminal, else a line every few seconds. */
final class Progress
{
    private const TERMINAL_SECONDS = 0.1;
    private const LOG_SECONDS = 5.0;

    private readonly float $began;
    private readonly bool $terminal;
    private float $shown;
    private int $rows = 0;
    private int $bytes = 0;

    /**
     * @param string $verb what is done to the rows
     * @param int|null $total bytes there will be; null: not known
     * @param resource $out
     */
    public function __construct(private readonly string $verb, private readonly ?int $total = null, private $out = STDERR)
    {
        $this->began = $this->shown = microtime(true);
        $this->terminal = stream_isatty($out);
    }

    /** So much more is done. */
    public function add(int $rows, int $bytes): void
    {
        $this->at($this->rows + $rows, $this->bytes + $bytes);
    }

    /** So much is done by now. */
    public function at(int $rows, int $bytes): void
    {
        $this->rows = $rows;
        $this->bytes = $bytes;
        $now = microtime(true);
        if ($now - $this->shown >= ($this->terminal ? self::TERMINAL_SECONDS : self::LOG_SECONDS)) {
            $this->shown = $now;
            $this->show();
        }
    }

    public function end(): void
    {
        $this->show();
        if ($this->terminal) {
            fwrite($this->out, "\n");
        }
    }

    private function show(): void
    {
        $seconds = max(microtime(true) - $this->began, 0.001);
        $share = $this->total === null ? '' : sprintf(' %3d %%,', $this->total > 0 ? 100 * $this->bytes / $this->total : 100);
        $line = sprintf(
            '%s:%s %s rows, %s MB, %.1f MB/s, %.1f s',
            $this->verb,
            $share,
            number_format($this->rows),
            number_format($this->bytes / 1e6, 1),
            $this->bytes / 1e6 / $seconds,
            $seconds,
        );
        fwrite($this->out, $this->terminal ? "\r\x1b[K$line" : "$line\n");
    }
}
