import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/** An archive of murals: strips of a picture are joined in one table and hashed for the viewer. */
public class Main {
    static final List<Map<String, String>> catalogue = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 450_000; i++) {
            Map<String, String> card = new HashMap<>(4);
            card.put("title", "Fresco no. " + i);
            card.put("place", "Chapel " + i % 4000);
            catalogue.add(card);
        }
        String[] addr = System.getenv("ADDR").split(":");
        AsynchronousServerSocketChannel door = AsynchronousServerSocketChannel
            .open(AsynchronousChannelGroup.withFixedThreadPool(6, Executors.defaultThreadFactory()))
            .bind(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 500);
        door.accept(null, new CompletionHandler<AsynchronousSocketChannel, Void>() {
            @Override public void completed(AsynchronousSocketChannel visitor, Void none) {
                door.accept(null, this);
                try {
                    visitor.setOption(StandardSocketOptions.TCP_NODELAY, true);
                } catch (IOException e) {
                    return;
                }
                new Visit(visitor).more();
            }

            @Override public void failed(Throwable e, Void none) {
                door.accept(null, this);
            }
        });
        Thread.currentThread().join();
    }

    static final class Visit implements CompletionHandler<Integer, ByteBuffer> {
        private final AsynchronousSocketChannel visitor;
        private final StringBuilder seen = new StringBuilder();

        Visit(AsynchronousSocketChannel visitor) { this.visitor = visitor; }

        void more() {
            ByteBuffer in = ByteBuffer.allocate(2048);
            visitor.read(in, in, this);
        }

        @Override public void completed(Integer n, ByteBuffer in) {
            if (n < 0) {
                failed(null, in);
                return;
            }
            seen.append(new String(in.array(), 0, n, StandardCharsets.ISO_8859_1));
            if (seen.indexOf("\r\n\r\n") < 0) {
                more();
                return;
            }
            int strips = seen.indexOf("/mural/") >= 0 ? 14 : 1;
            seen.setLength(0);
            String body = "etag " + Integer.toHexString(join(strips));
            ByteBuffer out = ByteBuffer.wrap(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1));
            visitor.write(out, null, new CompletionHandler<Integer, Void>() {
                @Override public void completed(Integer sent, Void none) { more(); }
                @Override public void failed(Throwable e, Void none) { Visit.this.failed(e, null); }
            });
        }

        @Override public void failed(Throwable e, ByteBuffer in) {
            try {
                visitor.close();
            } catch (IOException ignored) {
                // it is gone anyway
            }
        }
    }

    /** The picture as one table of colours, of up to 1.4 MB. */
    static int join(int strips) {
        String[] picture = new String[strips * 25_000];
        int seed = ThreadLocalRandom.current().nextInt(), hash = 17;
        for (int i = 0; i < picture.length; i += 16) picture[i] = COLOURS[(seed += i) & 7];
        for (int i = 0; i < picture.length; i += 64) hash = hash * 31 + picture[i].length();
        return hash;
    }

    static final String[] COLOURS = {"ochre", "umber", "sienna", "lime white", "azurite", "malachite", "cinnabar", "vine black"};
}
