import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.Executors;

/** Customers: a record by its number, from a database with a protocol of its own over TCP. */
public class Main {
    /** One connection for each thread, opened when it is first needed. */
    static final ThreadLocal<Link> link = ThreadLocal.withInitial(Link::new);

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 400);
        server.createContext("/customers/", Main::customer);
        server.createContext("/about", e -> send(e, "customers 4.2"));
        server.setExecutor(Executors.newFixedThreadPool(100));
        server.start();
    }

    static void customer(HttpExchange e) throws IOException {
        String id = e.getRequestURI().getPath().substring("/customers/".length());
        String name = link.get().ask("SELECT name WHERE id=" + id);
        String orders = link.get().ask("SELECT orders WHERE customer=" + id);
        send(e, "{\"name\":\"" + name + "\",\"orders\":\"" + orders + "\"}");
    }

    static void send(HttpExchange e, String text) throws IOException {
        byte[] body = text.getBytes();
        e.sendResponseHeaders(200, body.length);
        e.getResponseBody().write(body);
        e.close();
    }

    static final class Link {
        private DataInputStream in;
        private DataOutputStream out;

        String ask(String statement) throws IOException {
            if (in == null) {
                String[] db = System.getenv("ADDR_DB").split(":");
                Socket s = new Socket(db[0], Integer.parseInt(db[1]));
                s.setTcpNoDelay(true);
                in = new DataInputStream(s.getInputStream());
                out = new DataOutputStream(s.getOutputStream());
            }
            out.writeUTF(statement);
            out.flush();
            return in.readUTF();
        }
    }
}
