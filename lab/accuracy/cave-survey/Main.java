import java.io.IOException;
import java.lang.ref.Cleaner;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A survey of caves: depths in a mapped file, and maps drawn from them. */
public class Main {
    static final int CAVES = 500, POINTS = 4_000;
    static final Cleaner cleaner = Cleaner.create();
    static final AtomicInteger sheets = new AtomicInteger();
    static final LinkedTransferQueue<Integer> readings = new LinkedTransferQueue<>();
    static volatile ConcurrentSkipListMap<Integer, Integer> deepest = new ConcurrentSkipListMap<>();
    static MappedByteBuffer depths;

    /** A sheet of paper. The Cleaner counts it out when it is not used any more. */
    static final class Sheet {
        final StringBuilder ink = new StringBuilder(2_000);

        Sheet() {
            sheets.incrementAndGet();
            cleaner.register(this, sheets::decrementAndGet);
        }
    }

    public static void main(String[] args) throws Exception {
        try (var file = FileChannel.open(Path.of("depths.dat"), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            depths = file.map(FileChannel.MapMode.READ_WRITE, 0, 4L * CAVES * POINTS);
        }
        for (int i = 0; i < CAVES * POINTS; i++) depths.putInt(4 * i, (i * 7919 ^ i >>> 7) % 300);
        for (int n = 0; n < 100; n++) Thread.startVirtualThread(Main::enterReadings);
        var timer = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("indexer").factory());
        timer.scheduleWithFixedDelay(Main::rebuildIndex, 0, 1, TimeUnit.SECONDS);
        String[] address = System.getenv("ADDR").split(":");
        var door = AsynchronousServerSocketChannel.open().bind(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 256);
        door.accept(null, new CompletionHandler<AsynchronousSocketChannel, Void>() {
            @Override public void completed(AsynchronousSocketChannel surveyor, Void nothing) {
                door.accept(null, this);
                new Talk(surveyor).readMore();
            }

            @Override public void failed(Throwable why, Void nothing) { throw new IllegalStateException(why); }
        });
        new CountDownLatch(1).await();
    }

    static void enterReadings() {
        try {
            while (true) {
                int cave = readings.take();
                TimeUnit.MILLISECONDS.sleep(300); // the ink dries
                depths.putInt(4 * cave * POINTS, cave % 300);
            }
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }

    static void rebuildIndex() {
        var next = new ConcurrentSkipListMap<Integer, Integer>();
        for (int cave = 0; cave < CAVES; cave++) {
            int most = 0;
            for (int point = 0; point < POINTS; point += 8) most = Math.max(most, depths.getInt(4 * (cave * POINTS + point)));
            next.put(cave, most);
        }
        deepest = next;
    }

    /** One connection. Whatever has been read is answered before more is. */
    static final class Talk implements CompletionHandler<Integer, ByteBuffer> {
        final AsynchronousSocketChannel surveyor;
        final StringBuilder said = new StringBuilder();

        Talk(AsynchronousSocketChannel surveyor) { this.surveyor = surveyor; }

        void readMore() {
            ByteBuffer in = ByteBuffer.allocate(2048);
            surveyor.read(in, in, this);
        }

        @Override public void completed(Integer n, ByteBuffer in) {
            if (n < 0) {
                failed(null, in);
                return;
            }
            said.append(StandardCharsets.ISO_8859_1.decode(in.flip()));
            if (said.indexOf("\r\n\r\n") < 0) {
                readMore();
                return;
            }
            String[] path = said.substring(5, said.indexOf(" HTTP/")).split("/");
            said.setLength(0);
            String body = path[0].equals("map") ? draw(Integer.parseInt(path[1])) : note(Integer.parseInt(path[1]), path[2]);
            byte[] text = ("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1);
            ByteBuffer out = ByteBuffer.wrap(text);
            surveyor.write(out, out, new CompletionHandler<Integer, ByteBuffer>() {
                @Override public void completed(Integer written, ByteBuffer rest) {
                    if (rest.hasRemaining()) surveyor.write(rest, rest, this);
                    else readMore();
                }

                @Override public void failed(Throwable why, ByteBuffer rest) { Talk.this.failed(why, rest); }
            });
        }

        @Override public void failed(Throwable why, ByteBuffer in) {
            try {
                surveyor.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static String note(int cave, String depth) {
        try {
            int at = Integer.parseInt(depth);
            if (at % 4 == 0) readings.add(cave);
            return "cave " + cave + " noted, deepest " + deepest.get(cave) + "\n";
        } catch (NumberFormatException e) {
            return "cave " + cave + " is " + depth + "\n";
        }
    }

    static String draw(int cave) {
        Sheet sheet = new Sheet();
        for (int point = 0; point < 160; point++) sheet.ink.append(depths.getInt(4 * (cave * POINTS + point))).append(point % 16 == 15 ? '\n' : ' ');
        return sheet.ink.toString();
    }
}
