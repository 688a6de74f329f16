import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadLocalRandom;

/** A database: it has lost an index, so that two of five lookups of orders take a scan. */
public class Db {
    static final boolean LOST = !"0".equals(System.getenv("FAULT"));

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        try (ServerSocket listener = new ServerSocket(Integer.parseInt(addr[1]), 300, InetAddress.getByName(addr[0]))) {
            while (true) {
                Socket client = listener.accept();
                new Thread(() -> talk(client)).start();
            }
        }
    }

    static void talk(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            while (true) {
                String statement = in.readUTF();
                boolean scan = LOST && statement.contains("orders") && ThreadLocalRandom.current().nextInt(5) < 2;
                Thread.sleep(scan ? ThreadLocalRandom.current().nextInt(90, 260) : 2);
                out.writeUTF("row of " + statement.length());
                out.flush();
            }
        } catch (IOException | InterruptedException e) {
            // the client went away
        }
    }
}
