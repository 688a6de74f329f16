import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/**
 * A small HTTP/1.1 service whose ailment is chosen by arguments key=value (see {@link Settings}). It
 * has a thread for each connection, as servlet containers have for each request under way, listens
 * on a loopback port that the kernel chooses, says which as its first line of output, and ends when
 * its standard input does. It needs nothing but java.base.
 */
public final class Service {
    public static void main(String[] arguments) throws IOException {
        Settings settings = new Settings(arguments);
        Work work = new Work(settings);
        new Background(settings).start();
        ServerSocket listening = new ServerSocket();
        listening.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 1024);
        Executor virtual = settings.number("virtual") > 0 ? virtual() : null;
        Thread accepting = new Thread(() -> accept(listening, work, virtual), "acceptor");
        accepting.setDaemon(true);
        accepting.start();
        System.out.println("{\"serving\":\"127.0.0.1:" + listening.getLocalPort() + "\"}");
        while (System.in.read() >= 0) {
            // nothing is asked of it: only the end counts
        }
        System.exit(0);
    }

    /** A virtual thread for each connection: JDK 21 and later. */
    private static Executor virtual() {
        try {
            return (Executor) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this JDK has no virtual threads", e);
        }
    }

    private static void accept(ServerSocket listening, Work work, Executor virtual) {
        for (int n = 1; ; n++) {
            try {
                Socket socket = listening.accept();
                socket.setTcpNoDelay(true);
                if (virtual != null) {
                    virtual.execute(() -> serve(socket, work));
                    continue;
                }
                Thread thread = new Thread(() -> serve(socket, work), "http-exec-" + n);
                thread.setDaemon(true);
                thread.start();
            } catch (IOException end) {
                return;
            }
        }
    }

    private static void serve(Socket socket, Work work) {
        try (socket) {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            OutputStream out = socket.getOutputStream();
            while (in.readLine() != null) {
                for (String header = in.readLine(); header != null && !header.isEmpty(); header = in.readLine()) {
                    // of no use here
                }
                byte[] body = work.handle();
                String head = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " + body.length + "\r\n\r\n";
                out.write(head.getBytes(StandardCharsets.ISO_8859_1));
                out.write(body);
            }
        } catch (IOException gone) {
            // the client has closed it
        }
    }
}
