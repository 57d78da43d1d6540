# An image with PHP, apus.so and the apus command: docker build -t apus .
FROM rust:1-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends php8.2-cli php8.2-dev clang libclang-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN tools/release \
    && install -D -m 755 target/pgo/apus /out/bin/apus \
    && install -D -m 644 target/pgo/libapus.so /out/lib/apus/apus.so

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends php8.2-cli php8.2-opcache ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /usr/local/
CMD ["apus", "doctor"]
