import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Prices of wool. A lot is priced when asked; all grades are fitted anew every four seconds, each on a thread. */
public class Main {
    static final int GRADES = 20;
    static final double[][] sales = new double[GRADES][60_000];
    static volatile double[] slope = new double[GRADES];

    public static void main(String[] args) throws IOException {
        Random r = new Random(4);
        for (double[] grade : sales) for (int i = 0; i < grade.length; i++) grade[i] = 100 + r.nextGaussian() * 9 + i * 1e-3;

        ExecutorService fitters = Executors.newFixedThreadPool("0".equals(System.getenv("FAULT")) ? 1 : GRADES, task -> {
            Thread t = new Thread(task, "fitter");
            t.setDaemon(true);
            return t;
        });
        int rounds = "0".equals(System.getenv("FAULT")) ? 1 : 1000;
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        clock.scheduleAtFixedRate(() -> refit(fitters, rounds), 1, 4, TimeUnit.SECONDS);

        String[] addr = System.getenv("ADDR").split(":");
        HttpServer market = HttpServer.create(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 200);
        market.setExecutor(Executors.newFixedThreadPool(16));
        market.createContext("/lot/", Main::priceLot);
        market.start();
    }

    static void refit(ExecutorService fitters, int rounds) {
        List<Callable<Double>> work = new ArrayList<>();
        for (double[] grade : sales) work.add(() -> fitGrade(grade, rounds));
        try {
            double[] fresh = new double[GRADES];
            int i = 0;
            for (var done : fitters.invokeAll(work)) fresh[i++] = done.get();
            slope = fresh;
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    /** Gradient descent, as it was written at school. */
    static double fitGrade(double[] y, int rounds) {
        double a = 0, b = 0;
        for (int round = 0; round < rounds; round++) {
            double da = 0, db = 0;
            for (int i = 0; i < y.length; i++) {
                double x = i / (double) y.length, off = a + b * x - y[i];
                da += off;
                db += off * x;
            }
            a -= da / y.length;
            b -= db / y.length;
        }
        return b;
    }

    static void priceLot(HttpExchange x) throws IOException {
        int lot = x.getRequestURI().getPath().hashCode() & 0xffff;
        double[] grade = sales[lot % GRADES];
        double sum = 0;
        for (int k = 0; k < 10; k++) for (int i = lot % 64; i < grade.length; i += 4) sum += Math.sqrt(grade[i] + k);
        byte[] body = String.format("lot %d: %.2f (%.3f)%n", lot, sum / grade.length, slope[lot % GRADES]).getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
