import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.net.Socket;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/** Blocks of stone: each request looks at six sides, side by side in the common pool, and each side asks the quarry. */
public class Main {
    static final BlockingQueue<Socket> idle = new LinkedBlockingQueue<>();
    static java.net.InetSocketAddress at(String name) {
        String v = System.getenv(name);
        int colon = v.lastIndexOf(':');
        return new java.net.InetSocketAddress(v.substring(0, colon), Integer.parseInt(v.substring(colon + 1)));
    }

    public static void main(String[] a) throws Exception {
        HttpServer s = HttpServer.create(at("ADDR"), 500);
        s.setExecutor(Executors.newCachedThreadPool());
        s.createContext("/block", x -> {
            List<String> sides = IntStream.range(0, 6).boxed().parallel().map(i -> ask("side" + i)).collect(Collectors.toList());
            byte[] b = sides.toString().getBytes();
            x.sendResponseHeaders(200, b.length);
            x.getResponseBody().write(b);
            x.close();
        });
        s.start();
    }
    static String ask(String key) {
        try {
            Socket c = idle.poll();
            if (c == null) { c = new Socket(); c.connect(at("ADDR_QUARRY")); c.setTcpNoDelay(true); }
            c.getOutputStream().write(("GET " + key + "\n").getBytes());
            InputStream in = c.getInputStream();
            StringBuilder sb = new StringBuilder();
            for (int ch; (ch = in.read()) != '\n'; ) sb.append((char) ch);
            idle.add(c);
            return sb.toString();
        } catch (IOException e) { throw new UncheckedIOException(e); }
    }
}
