package operations;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Writes ten times a second how many connections are in use: a line of JSON each. */
final class Gauges {
    private Gauges() {}

    static void open(String path, Database database) throws IOException {
        if (path.isEmpty()) {
            return;
        }
        Writer out = Files.newBufferedWriter(Path.of(path), StandardCharsets.US_ASCII);
        Thread writer = new Thread(() -> write(out, database), "gauges");
        writer.setDaemon(true);
        writer.start();
    }

    private static void write(Writer out, Database database) {
        try {
            while (true) {
                out.write("{\"time\":\"" + Instant.now().truncatedTo(ChronoUnit.MILLIS) + "\",\"pool\":\"database\",\"active\":" + database.active()
                        + ",\"idle\":" + database.idle() + ",\"pending\":" + database.waiting() + ",\"max\":" + database.size + "}\n");
                out.flush();
                Thread.sleep(100);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("gauges: " + e);
        }
    }
}
