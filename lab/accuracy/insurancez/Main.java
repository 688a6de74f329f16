import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Insurance claims: each is kept for a while with its pages, in a heap for hardly more than that. */
public class Main {
    static final class Claim {
        final Map<String, String> fields = new HashMap<>();
        final List<byte[]> pages = new ArrayList<>();
        Claim(String id) {
            for (int i = 0; i < 120; i++) fields.put("field" + i, id + "/" + i);
            for (int i = 0; i < 40; i++) pages.add(new byte[6000]);
        }
    }

    static final class Desk {
        private final ArrayDeque<Claim> recent = new ArrayDeque<>();
        private final int bound;
        Desk(int bound) { this.bound = bound; }

        synchronized int file(Claim c) {
            recent.addLast(c);
            if (recent.size() > bound) recent.removeFirst();
            return recent.size();
        }
    }

    static final Desk desk = new Desk(800);

    public static void main(String[] args) throws Exception {
        String[] addr = System.getenv("ADDR").split(":");
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 500, InetAddress.getByName(addr[0]));
        while (true) {
            Socket s = listener.accept();
            Thread t = new Thread(() -> client(s));
            t.setDaemon(true);
            t.start();
        }
    }

    static void client(Socket socket) {
        try (Socket s = socket; BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream()))) {
            s.setTcpNoDelay(true);
            OutputStream out = s.getOutputStream();
            for (String line; (line = in.readLine()) != null; ) {
                while (!in.readLine().isEmpty()) { }
                String body = "filed, " + desk.file(new Claim(line)) + " open";
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes());
            }
        } catch (IOException | NullPointerException e) {
            // hung up
        }
    }
}
