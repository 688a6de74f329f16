import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/** Signet rings: who wears which, and now and then a proof that a seal was made by one. One thread serves all connections. */
public class Main {
    static final int RINGS = 160, ROUNDS = 600_000;

    /** A connection, and what it has sent of a request. */
    static final class Wearer {
        final SocketChannel channel;
        final StringBuilder said = new StringBuilder();

        Wearer(SocketChannel channel) { this.channel = channel; }
    }

    final Selector selector = Selector.open();
    final ByteBuffer in = ByteBuffer.allocateDirect(8192);
    final Queue<Runnable> done = new ConcurrentLinkedQueue<>();
    final Executor engraver;

    Main(Executor engraver) throws IOException { this.engraver = engraver; }

    public static void main(String[] args) throws IOException {
        Executor engraver = "0".equals(System.getenv("FAULT")) ? Executors.newSingleThreadExecutor() : Runnable::run;
        new Main(engraver).serve(System.getenv("ADDR").split(":"));
    }

    void serve(String[] address) throws IOException {
        ServerSocketChannel door = ServerSocketChannel.open();
        door.bind(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 512).configureBlocking(false);
        door.register(selector, SelectionKey.OP_ACCEPT);
        while (true) {
            selector.select();
            for (Runnable answer; (answer = done.poll()) != null; ) answer.run();
            var keys = selector.selectedKeys().iterator();
            while (keys.hasNext()) {
                SelectionKey key = keys.next();
                keys.remove();
                if (!key.isValid()) continue;
                if (key.isAcceptable()) welcome(door);
                else if (key.isReadable()) listen(key);
            }
        }
    }

    void welcome(ServerSocketChannel door) throws IOException {
        for (SocketChannel channel; (channel = door.accept()) != null; ) {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.register(selector, SelectionKey.OP_READ, new Wearer(channel));
        }
    }

    void listen(SelectionKey key) throws IOException {
        Wearer wearer = (Wearer) key.attachment();
        int n;
        try {
            n = wearer.channel.read(in.clear());
        } catch (IOException gone) {
            n = -1;
        }
        if (n < 0) {
            wearer.channel.close();
            return;
        }
        wearer.said.append(StandardCharsets.ISO_8859_1.decode(in.flip()));
        if (wearer.said.indexOf("\r\n\r\n") < 0) return;
        String path = wearer.said.substring(4, wearer.said.indexOf(" HTTP/"));
        wearer.said.setLength(0);
        int number = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
        if (number % RINGS != 7) {
            answer(wearer, "ring " + number % RINGS + " is worn by family " + number * 31 % 97 + "\n");
            return;
        }
        engraver.execute(() -> {
            String proof = prove(number);
            done.add(() -> answer(wearer, proof));
            selector.wakeup();
        });
    }

    /** Stretches the words of a seal, so that it cannot be guessed. */
    static String prove(int number) {
        try {
            var spec = new PBEKeySpec(("seal of ring " + number).toCharArray(), "wax and ribbon".getBytes(), ROUNDS, 256);
            return HexFormat.of().formatHex(SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded()) + "\n";
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Writes a response, which is small enough for the socket's buffer. */
    void answer(Wearer wearer, String body) {
        byte[] text = ("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1);
        try {
            wearer.channel.write(ByteBuffer.wrap(text));
        } catch (IOException gone) {
            // the selector tells us next
        }
    }
}
