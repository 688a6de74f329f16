package archive;

import com.google.inject.Singleton;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import okhttp3.Dispatcher;
import okhttp3.OkHttpClient;
import retrofit2.Retrofit;
import retrofit2.converter.gson.GsonConverterFactory;
import retrofit2.http.GET;
import retrofit2.http.Path;

/** The licences of pictures by an agency over HTTP: those of an article are asked for at once. */
@Singleton
class Publishers {
    private static final int PICTURES = 4;

    record Licence(String receipt, int cents) {
    }

    private interface Agency {
        @GET("licences/{picture}")
        CompletableFuture<Licence> licence(@Path("picture") int picture);
    }

    private final Agency agency;

    Publishers() {
        OkHttpClient.Builder client = new OkHttpClient.Builder().callTimeout(20, TimeUnit.SECONDS);
        if (!Main.fault("dispatcher-default")) { // by default the dispatcher makes five calls to a host at a time
            Dispatcher dispatcher = new Dispatcher();
            dispatcher.setMaxRequests(200);
            dispatcher.setMaxRequestsPerHost(100);
            client.dispatcher(dispatcher);
        }
        agency = new Retrofit.Builder().baseUrl("http://" + System.getenv("ADDR_AGENCY") + "/").client(client.build())
            .addConverterFactory(GsonConverterFactory.create()).build().create(Agency.class);
    }

    List<Licence> licences(int article) {
        List<CompletableFuture<Licence>> calls = IntStream.range(0, PICTURES).mapToObj(n -> agency.licence(article * PICTURES + n)).toList();
        return calls.stream().map(CompletableFuture::join).toList();
    }
}
