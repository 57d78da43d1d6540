-- Tables of the advertising API. `php bin/setup.php` makes them and the first key.

CREATE TABLE IF NOT EXISTS api_keys (
    -- SHA-256 of the key: keys are 192 random bits, so a slow hash would add nothing.
    hash BINARY(32) NOT NULL PRIMARY KEY,
    client INT UNSIGNED NOT NULL,
    name VARCHAR(100) NOT NULL,
    scopes VARCHAR(100) NOT NULL,
    -- Requests and events a minute; 0: no limit.
    per_minute INT UNSIGNED NOT NULL,
    revoked_at DATETIME NULL,
    created_at DATETIME NOT NULL DEFAULT UTC_TIMESTAMP()
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS advertisers (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(200) NOT NULL UNIQUE,
    email VARCHAR(200) NOT NULL,
    created_at DATETIME NOT NULL DEFAULT UTC_TIMESTAMP()
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS campaigns (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    advertiser INT UNSIGNED NOT NULL,
    name VARCHAR(200) NOT NULL,
    state ENUM('active', 'paused', 'ended') NOT NULL,
    budget_cents BIGINT UNSIGNED NOT NULL,
    starts_on DATE NOT NULL,
    ends_on DATE NULL,
    created_at DATETIME NOT NULL DEFAULT UTC_TIMESTAMP(),
    FOREIGN KEY (advertiser) REFERENCES advertisers (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS creatives (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    campaign INT UNSIGNED NOT NULL,
    title VARCHAR(200) NOT NULL,
    landing_url VARCHAR(2000) NOT NULL,
    created_at DATETIME NOT NULL DEFAULT UTC_TIMESTAMP(),
    FOREIGN KEY (campaign) REFERENCES campaigns (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- One row an event, however often it was sent. No foreign keys: an event is never refused for what somebody deletes.
CREATE TABLE IF NOT EXISTS events (
    client INT UNSIGNED NOT NULL,
    id BINARY(16) NOT NULL,
    kind ENUM('impression', 'click') NOT NULL,
    campaign INT UNSIGNED NOT NULL,
    creative INT UNSIGNED NOT NULL,
    cost_micros INT UNSIGNED NOT NULL,
    occurred_at DATETIME NOT NULL,
    PRIMARY KEY (client, id),
    KEY (occurred_at)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS hourly (
    hour DATETIME NOT NULL,
    campaign INT UNSIGNED NOT NULL,
    creative INT UNSIGNED NOT NULL,
    impressions INT UNSIGNED NOT NULL,
    clicks INT UNSIGNED NOT NULL,
    cost_micros BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (campaign, hour, creative),
    KEY (hour)
) ENGINE = InnoDB;

-- Hours that got events since they were last added up.
CREATE TABLE IF NOT EXISTS changed_hours (
    hour DATETIME NOT NULL PRIMARY KEY
) ENGINE = InnoDB;

-- How far each file of the spool is in `events`: written in the same transaction as the events.
CREATE TABLE IF NOT EXISTS spool_positions (
    segment VARCHAR(100) NOT NULL PRIMARY KEY,
    position BIGINT UNSIGNED NOT NULL
) ENGINE = InnoDB;
