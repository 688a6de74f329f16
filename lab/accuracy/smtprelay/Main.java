import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.LinkedList;
import java.util.concurrent.Executors;

/** Relay: takes notices over HTTP and hands each to the mail server over one of a few kept sessions. */
public class Main {
    public static void main(String[] args) throws IOException {
        SessionShelf shelf = new SessionShelf("0".equals(System.getenv("FAULT")) ? 32 : 4);
        HttpServer server = HttpServer.create(address("ADDR"), 500);
        server.createContext("/notify", exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            String said;
            Session session = shelf.borrow();
            try {
                said = session.deliver("customer@example.org", new String(body));
            } finally {
                shelf.giveBack(session);
            }
            exchange.sendResponseHeaders(202, said.length());
            exchange.getResponseBody().write(said.getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(200));
        server.start();
    }

    static InetSocketAddress address(String variable) {
        String[] parts = System.getenv(variable).split(":");
        return new InetSocketAddress(parts[0], Integer.parseInt(parts[1]));
    }

    /** Open sessions; who finds none waits to be notified. */
    static class SessionShelf {
        private final LinkedList<Session> free = new LinkedList<>();

        SessionShelf(int sessions) throws IOException {
            for (int i = 0; i < sessions; i++) free.add(new Session());
        }

        Session borrow() {
            synchronized (free) {
                while (free.isEmpty()) {
                    try {
                        free.wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
                return free.removeFirst();
            }
        }

        void giveBack(Session session) {
            synchronized (free) {
                free.addLast(session);
                free.notify();
            }
        }
    }

    static class Session {
        private final BufferedReader in;
        private final PrintStream out;

        Session() throws IOException {
            InetSocketAddress server = address("ADDR_MTA");
            Socket socket = new Socket(server.getAddress(), server.getPort());
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            out = new PrintStream(socket.getOutputStream());
            in.readLine();
        }

        String deliver(String to, String text) throws IOException {
            say("RCPT TO:<" + to + ">");
            return say("DATA " + text);
        }

        private String say(String line) throws IOException {
            out.print(line + "\r\n");
            out.flush();
            return in.readLine();
        }
    }
}
