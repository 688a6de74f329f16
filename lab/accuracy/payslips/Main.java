import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

/** Payslips: a month's positions per person, in decimal arithmetic, in a container with little CPU. */
public class Main {
    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 300);
        server.createContext("/payslip", Main::payslip);
        server.setExecutor(Executors.newFixedThreadPool(10));
        server.start();
    }

    static void payslip(HttpExchange x) throws IOException {
        int person = Math.floorMod(x.getRequestURI().getPath().hashCode(), 5000);
        List<String> lines = new ArrayList<>();
        BigDecimal total = BigDecimal.ZERO;
        for (int day = 1; day <= 680; day++) {
            BigDecimal hours = BigDecimal.valueOf(person % 9 + day, 1);
            BigDecimal amount = hours.multiply(new BigDecimal("17.35")).divide(new BigDecimal("1.19"), 8, RoundingMode.HALF_UP);
            total = total.add(amount);
            lines.add(String.join(";", "day " + day, hours.toPlainString(), amount.setScale(2, RoundingMode.HALF_EVEN).toPlainString()));
        }
        byte[] body = (String.join("\n", lines) + "\ntotal " + total.setScale(2, RoundingMode.HALF_EVEN)).getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
