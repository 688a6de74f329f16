package toll;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The journal of passages. It is written to the disk each second, with the fault for each passage. */
class Journal {
    private final FileChannel file;
    private long passages;

    Journal(String name) throws IOException {
        file = FileChannel.open(Path.of(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        if (!Main.fault("journal-sync")) {
            Executors.newSingleThreadScheduledExecutor(work -> {
                Thread thread = new Thread(work, "journal");
                thread.setDaemon(true);
                return thread;
            }).scheduleWithFixedDelay(this::sync, 1, 1, TimeUnit.SECONDS);
        }
    }

    synchronized Map<String, Long> write(String plate) throws IOException {
        file.write(ByteBuffer.wrap((Instant.now() + " " + plate + " " + "lane 3, camera 2, clear\n").getBytes(StandardCharsets.UTF_8)));
        if (Main.fault("journal-sync")) {
            file.force(true);
        }
        return Map.of("passage", ++passages);
    }

    private void sync() {
        try {
            file.force(false);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
