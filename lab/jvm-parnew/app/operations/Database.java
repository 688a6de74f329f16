package operations;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A pool of connections to the database. A query holds one for as long as it lasts. */
final class Database {
    final int size;
    private final String host;
    private final int port;
    private final ArrayBlockingQueue<Connection> idle;
    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger active = new AtomicInteger();

    Database(String address, int size) {
        int colon = address.lastIndexOf(':');
        this.host = address.substring(0, colon);
        this.port = Integer.parseInt(address.substring(colon + 1));
        this.size = size;
        this.idle = new ArrayBlockingQueue<>(size);
    }

    int active() { return active.get(); }

    int waiting() { return waiting.get(); }

    int idle() { return idle.size(); }

    /** Takes a connection, waiting for one if all are in use. */
    Connection take() throws IOException, InterruptedException {
        Connection c = idle.poll();
        if (c == null) {
            c = another();
        }
        active.incrementAndGet();
        return c;
    }

    private Connection another() throws IOException, InterruptedException {
        if (open.getAndUpdate(n -> Math.min(n + 1, size)) < size) {
            return new Connection(host, port);
        }
        waiting.incrementAndGet();
        try {
            return idle.take();
        } finally {
            waiting.decrementAndGet();
        }
    }

    void give(Connection c) {
        active.decrementAndGet();
        idle.add(c);
    }

    /** Closes a connection that failed. */
    void drop(Connection c) {
        active.decrementAndGet();
        open.decrementAndGet();
        c.close();
    }

    /** Speaks RESP2: one GET at a time. https://redis.io/docs/latest/develop/reference/protocol-spec/ */
    static final class Connection {
        private final Socket socket;
        private final InputStream in;
        private final OutputStream out;
        private final byte[] buffer = new byte[4096];

        Connection(String host, int port) throws IOException {
            socket = new Socket(InetAddress.getByName(host), port);
            socket.setTcpNoDelay(true);
            in = socket.getInputStream();
            out = socket.getOutputStream();
        }

        /** Asks for a key and returns a number made of the answer. */
        long get(byte[] command) throws IOException {
            out.write(command);
            int have = 0;
            int need = -1;
            while (need < 0 || have < need) {
                int n = in.read(buffer, have, buffer.length - have);
                if (n < 0) {
                    throw new IOException("the database hung up");
                }
                have += n;
                if (need < 0) {
                    need = length(have);
                }
            }
            long sum = 0;
            for (int i = 0; i < need; i++) {
                sum = 31 * sum + buffer[i];
            }
            return sum;
        }

        /** How long the answer is, "$5\r\nvalue\r\n", or -1 if its first line is not there yet. */
        private int length(int have) throws IOException {
            int value = 0;
            for (int i = 1; i < have; i++) {
                if (buffer[i] == '\r') {
                    return i + 2 + value + 2;
                }
                value = 10 * value + buffer[i] - '0';
            }
            if (have > 0 && buffer[0] != '$') {
                throw new IOException("the database said " + (char) buffer[0]);
            }
            return -1;
        }

        void close() {
            try {
                socket.close();
            } catch (IOException e) {
                // it failed already
            }
        }
    }

    /** The command that asks for a key. */
    static byte[] command(String key) {
        return ("*2\r\n$3\r\nGET\r\n$" + key.length() + "\r\n" + key + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }
}
