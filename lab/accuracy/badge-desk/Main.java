import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/** Badges for visitors: each desk has its line to the photo archive and uses it for one visitor at a time. */
public class Main {
    private static final boolean PIN = !"0".equals(System.getenv("FAULT"));
    private final Desk[] desks = new Desk[400];

    Main() throws IOException {
        for (int i = 0; i < desks.length; i++) {
            desks[i] = new Desk();
        }
    }

    public static void main(String[] args) throws Exception {
        Main hall = new Main();
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 600);
        server.createContext("/badge/", hall::badge);
        server.setExecutor((Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        server.start();
    }

    void badge(HttpExchange x) throws IOException {
        int visitor = Integer.parseInt(x.getRequestURI().getPath().substring("/badge/".length()));
        byte[] body = ("badge " + visitor + " " + desks[visitor % desks.length].photo(visitor)).getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }

    static final class Desk {
        private final ReentrantLock turn = new ReentrantLock();
        private final Socket archive;
        private final BufferedReader in;

        Desk() throws IOException {
            String[] at = System.getenv("ADDR_PHOTOS").split(":");
            archive = new Socket(at[0], Integer.parseInt(at[1]));
            archive.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(archive.getInputStream()));
        }

        String photo(int visitor) throws IOException {
            if (PIN) {
                synchronized (this) {
                    return fetch(visitor);
                }
            }
            turn.lock();
            try {
                return fetch(visitor);
            } finally {
                turn.unlock();
            }
        }

        private String fetch(int visitor) throws IOException {
            archive.getOutputStream().write((visitor + "\n").getBytes());
            return in.readLine();
        }
    }
}
