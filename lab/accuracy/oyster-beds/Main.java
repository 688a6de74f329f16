import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** Says how the oysters of a bed are: a virtual thread for each request asks the laboratory, over a line that it keeps. */
public final class Main {
    private static final ConcurrentLinkedQueue<Line> LINES = new ConcurrentLinkedQueue<>();

    public static void main(String[] args) throws Exception {
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 512);
        server.createContext("/bed/", Main::bed);
        server.setExecutor((Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        server.start();
    }

    private static void bed(HttpExchange x) throws IOException {
        byte[] answer = salinity(x.getRequestURI().getPath().substring("/bed/".length())).getBytes(StandardCharsets.UTF_8);
        x.sendResponseHeaders(200, answer.length);
        try (OutputStream out = x.getResponseBody()) {
            out.write(answer);
        }
    }

    static String salinity(String bed) throws IOException {
        Line line = LINES.poll();
        if (line == null) {
            line = new Line();
        }
        String said = line.ask(bed);
        LINES.add(line);
        return said;
    }

    static final class Line {
        private final Socket socket;
        private final BufferedReader in;

        Line() throws IOException {
            String[] at = System.getenv("ADDR_LABORATORY").split(":");
            socket = new Socket(at[0], Integer.parseInt(at[1]));
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        String ask(String bed) throws IOException {
            socket.getOutputStream().write((bed + "\n").getBytes(StandardCharsets.UTF_8));
            return in.readLine();
        }
    }
}
