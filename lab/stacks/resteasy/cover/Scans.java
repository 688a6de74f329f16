package cover;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.zip.CRC32;

/** Scans of letters in one file. A scan is read into a buffer outside the heap; with the fault each has a new one. */
public class Scans {
    private static final int BYTES = 6 << 20;
    private static final int COUNT = 8;
    private final FileChannel file;
    private final BlockingQueue<ByteBuffer> buffers = new ArrayBlockingQueue<>(8);

    Scans(String name) throws IOException {
        Path path = Path.of(name);
        byte[] letter = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            letter[i] = (byte) (i * 31);
        }
        Files.deleteIfExists(path);
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        for (int n = 0; n < COUNT; n++) {
            file.write(ByteBuffer.wrap(letter));
            buffers.add(ByteBuffer.allocateDirect(BYTES));
        }
    }

    long checksum(int id) throws IOException, InterruptedException {
        if (Main.fault("direct-each")) {
            return checksum(id, ByteBuffer.allocateDirect(BYTES));
        }
        ByteBuffer buffer = buffers.take();
        try {
            return checksum(id, buffer);
        } finally {
            buffers.put(buffer);
        }
    }

    private long checksum(int id, ByteBuffer buffer) throws IOException {
        buffer.clear();
        long from = (long) (id % COUNT) * BYTES;
        while (buffer.hasRemaining() && file.read(buffer, from + buffer.position()) > 0) {}
        CRC32 sum = new CRC32();
        sum.update(buffer.flip());
        return sum.getValue();
    }
}
