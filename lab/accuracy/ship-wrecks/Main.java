import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;

/** Wrecks: where they lie, by the archive of charts, and what they were worth, by the insurers. FAULT=0 asks with threads of its own. */
public class Main {
    /** Archive has connections to one archive. */
    static final class Archive {
        private record Line(Socket socket, BufferedReader in) {}

        private final BlockingQueue<Line> lines = new LinkedBlockingQueue<>();

        Archive(String address) throws IOException {
            String[] at = address.split(":");
            for (int i = 0; i < 60; i++) {
                Socket s = new Socket(at[0], Integer.parseInt(at[1]));
                s.setTcpNoDelay(true);
                lines.add(new Line(s, new BufferedReader(new InputStreamReader(s.getInputStream()))));
            }
        }

        String find(String what) {
            try {
                Line line = lines.take();
                try {
                    line.socket.getOutputStream().write(("GET " + what + "\n").getBytes());
                    return line.in.readLine();
                } finally {
                    lines.add(line);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Archive charts = new Archive(System.getenv("ADDR_CHARTS")), insurers = new Archive(System.getenv("ADDR_INSURERS"));
        Executor asks = "0".equals(System.getenv("FAULT")) ? Executors.newCachedThreadPool() : ForkJoinPool.commonPool();
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/wreck/", x -> {
            String name = x.getRequestURI().getPath().substring(7);
            CompletableFuture<String> place = CompletableFuture.supplyAsync(() -> charts.find("place-" + name), asks);
            CompletableFuture<String> worth = CompletableFuture.supplyAsync(() -> insurers.find("worth-" + name), asks);
            byte[] body = (place.join() + "\n" + worth.join() + "\n").getBytes();
            x.sendResponseHeaders(200, body.length);
            x.getResponseBody().write(body);
            x.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(100));
        server.start();
    }
}
