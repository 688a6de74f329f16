package operations;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes a part of the requests as spans, one of the request and one of each query,
 * as the collector's file exporter writes them: OTLP in JSON, a line each.
 * https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/
 */
final class Spans {
    private final BufferedWriter out;
    private final int every;
    private final String peer;
    private final AtomicLong seen = new AtomicLong();

    private Spans(BufferedWriter out, int every, String address) {
        this.out = out;
        this.every = every;
        int colon = address.lastIndexOf(':');
        this.peer = ",\"attributes\":[{\"key\":\"db.system\",\"value\":{\"stringValue\":\"redis\"}},{\"key\":\"server.address\",\"value\":{\"stringValue\":\""
                + address.substring(0, colon) + "\"}},{\"key\":\"server.port\",\"value\":{\"intValue\":\"" + address.substring(colon + 1) + "\"}}]}";
    }

    static Spans open(String path, int every, String address) throws IOException {
        return new Spans(path.isEmpty() ? null : Files.newBufferedWriter(Path.of(path), StandardCharsets.US_ASCII), every, address);
    }

    /** Begins the trace of a request; null: it is not sampled. */
    Trace begin() {
        return out == null || seen.getAndIncrement() % every != 0 ? null : new Trace();
    }

    /** Nanoseconds since the epoch. */
    static long now() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    final class Trace {
        private final String id = hex(16) + hex(16);
        private final String root = hex(16);
        private final StringBuilder spans = new StringBuilder();
        private final long start = now();

        void query(long from, long until) {
            span(hex(16), root, "GET", 3, from, until);
            spans.append(peer).append(',');
        }

        void end(String path) throws IOException {
            span(root, "", "GET " + path, 2, start, now());
            spans.append(",\"attributes\":[{\"key\":\"http.route\",\"value\":{\"stringValue\":\"").append(path).append("\"}}]}");
            String line = "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"operations\"}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"operations\"},\"spans\":["
                    + spans + "]}]}]}\n";
            synchronized (out) {
                out.write(line);
                out.flush();
            }
        }

        private void span(String span, String parent, String name, int kind, long from, long until) {
            spans.append("{\"traceId\":\"").append(id).append("\",\"spanId\":\"").append(span).append("\",\"parentSpanId\":\"").append(parent)
                    .append("\",\"name\":\"").append(name).append("\",\"kind\":").append(kind)
                    .append(",\"startTimeUnixNano\":\"").append(from).append("\",\"endTimeUnixNano\":\"").append(until).append('"');
        }

        private String hex(int digits) {
            String text = Long.toHexString(ThreadLocalRandom.current().nextLong() | 1L << 63);
            return text.substring(0, digits);
        }
    }
}
