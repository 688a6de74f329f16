import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

/** Berths of a night ferry. The purser's office is asked over sockets that are pooled (commons-pool2), three of them. */
public class Main {
    static class Office implements AutoCloseable {
        final Socket socket;
        final PrintStream out;
        final BufferedReader in;

        Office(String host, int port) throws IOException {
            socket = new Socket(host, port);
            socket.setTcpNoDelay(true);
            out = new PrintStream(socket.getOutputStream(), true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
        }

        String berth(String passenger) throws IOException {
            out.print("GET " + passenger + "\n");
            out.flush();
            return in.readLine();
        }

        @Override public void close() throws IOException { socket.close(); }
    }

    static class Offices extends BasePooledObjectFactory<Office> {
        @Override public Office create() throws Exception {
            String[] at = System.getenv("ADDR_PURSER").split(":");
            return new Office(at[0], Integer.parseInt(at[1]));
        }
        @Override public PooledObject<Office> wrap(Office o) { return new DefaultPooledObject<>(o); }
        @Override public void destroyObject(PooledObject<Office> p) throws Exception { p.getObject().close(); }
    }

    public static void main(String[] args) throws Exception {
        int sockets = "0".equals(System.getenv("FAULT")) ? 64 : 3;
        GenericObjectPoolConfig<Office> config = new GenericObjectPoolConfig<>();
        config.setMaxTotal(sockets);
        config.setMaxIdle(sockets);
        config.setJmxEnabled(false);
        GenericObjectPool<Office> pool = new GenericObjectPool<>(new Offices(), config);

        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        server.setExecutor(Executors.newFixedThreadPool(100));
        server.createContext("/berth/", x -> answer(x, pool));
        server.start();
    }

    static void answer(HttpExchange x, GenericObjectPool<Office> pool) throws IOException {
        int status = 200;
        String text;
        try {
            Office office = pool.borrowObject();
            try {
                text = office.berth(x.getRequestURI().getPath().substring(7));
            } finally {
                pool.returnObject(office);
            }
        } catch (Exception e) {
            status = 503;
            text = e.toString();
        }
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        x.sendResponseHeaders(status, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
