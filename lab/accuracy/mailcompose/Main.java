import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/** Mail: lists of a mailbox, and messages put together with their attachments. */
public class Main {
    static final List<String[]> mailbox = new ArrayList<>();
    static final boolean TIDY = !"0".equals(System.getenv("FAULT"));

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < 420_000; i++)
            mailbox.add(new String[] {"sender" + i % 9001 + "@example.org", "Re: offer " + i, "message-" + Long.toHexString(i * 77777L), null});
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer http = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 256);
        http.createContext("/inbox", Main::inbox);
        http.createContext("/compose", Main::compose);
        http.setExecutor(Executors.newFixedThreadPool(24));
        http.start();
    }

    static void inbox(HttpExchange x) throws IOException {
        int from = ThreadLocalRandom.current().nextInt(mailbox.size() - 50);
        StringBuilder page = new StringBuilder();
        for (String[] m : mailbox.subList(from, from + 50)) page.append(m[0]).append('\t').append(m[1]).append('\t').append(m[2]).append('\n');
        answer(x, page.toString().getBytes());
    }

    /** Attachments pass through direct memory; whoever wrote this wanted it back at once. */
    static void compose(HttpExchange x) throws IOException {
        ByteBuffer attachment = ByteBuffer.allocateDirect(256 << 10);
        byte[] chunk = new byte[4096];
        while (attachment.remaining() >= chunk.length) {
            ThreadLocalRandom.current().nextBytes(chunk);
            attachment.put(chunk);
        }
        attachment.flip();
        ByteArrayOutputStream mime = new ByteArrayOutputStream();
        while (attachment.hasRemaining()) {
            attachment.get(chunk);
            mime.write(Base64.getMimeEncoder().encode(chunk));
        }
        if (TIDY) releaseBuffers();
        answer(x, ("queued " + mime.size() + "\n").getBytes());
    }

    static void releaseBuffers() {
        System.gc();
    }

    static void answer(HttpExchange x, byte[] body) throws IOException {
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
