import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;

/** Vouchers: a virtual thread for each connection, and permits for the ledger so that it is never asked too much at once. */
public class Main {
    static final Semaphore ledgerPermits = new Semaphore("0".equals(System.getenv("FAULT")) ? 200 : 5);
    static String[] ledger;

    public static void main(String[] args) throws Exception {
        ledger = System.getenv("ADDR_LEDGER").split(":");
        String[] addr = System.getenv("ADDR").split(":");
        // Executors.newVirtualThreadPerTaskExecutor(), which older compilers do not know
        Method virtual = java.util.concurrent.Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        ExecutorService threads = (ExecutorService) virtual.invoke(null);
        ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 1000, InetAddress.getByName(addr[0]));
        while (true) {
            Socket client = listener.accept();
            threads.submit(() -> connection(client));
        }
    }

    static Object connection(Socket client) throws Exception {
        try (client; Socket mine = new Socket(ledger[0], Integer.parseInt(ledger[1]))) {
            client.setTcpNoDelay(true);
            mine.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
            BufferedReader entries = new BufferedReader(new InputStreamReader(mine.getInputStream()));
            OutputStream out = client.getOutputStream();
            for (String line; (line = in.readLine()) != null; ) {
                while (!in.readLine().isEmpty()) { }
                String said = redeem(line.split(" ")[1], entries, mine.getOutputStream());
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + said.length() + "\r\n\r\n" + said).getBytes());
            }
        }
        return null;
    }

    static String redeem(String voucher, BufferedReader entries, OutputStream ledger) throws IOException, InterruptedException {
        ledgerPermits.acquire();
        try {
            ledger.write(("debit " + voucher + "\n").getBytes());
            return entries.readLine();
        } finally {
            ledgerPermits.release();
        }
    }
}
