import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;

/** Passports: numbers are checked against a register, with the last answers kept in a map under its monitor. */
public class Main {
    static class Register {
        private final Map<String, String> known = new LinkedHashMap<>() {
            @Override protected boolean removeEldestEntry(Map.Entry<String, String> eldest) { return size() > 40; }
        };
        private Socket socket;
        private BufferedReader in;

        /** One connection and one map: whoever asks holds both until the register has answered. */
        synchronized String check(String number) throws IOException {
            String kept = known.get(number);
            if (kept != null) return kept;
            if (socket == null) {
                String[] at = System.getenv("ADDR_REGISTER").split(":");
                socket = new Socket(at[0], Integer.parseInt(at[1]));
                socket.setTcpNoDelay(true);
                in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            }
            socket.getOutputStream().write((number + "\n").getBytes());
            String answer = in.readLine();
            known.put(number, answer);
            return answer;
        }
    }

    static final Register register = new Register();

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/passport", x -> {
            String path = x.getRequestURI().getPath();
            byte[] body = register.check(path.substring(path.lastIndexOf('/') + 1)).getBytes();
            send(x, body);
        });
        server.setExecutor(Executors.newFixedThreadPool(60));
        server.start();
    }

    static void send(HttpExchange x, byte[] body) throws IOException {
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
