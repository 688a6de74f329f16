package prices;

import com.google.protobuf.Int64Value;
import com.google.protobuf.StringValue;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.CRC32;

/** The price service of a shop on gRPC for Java: prices that it computes, quotes that it asks a supplier for. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws Exception {
        Supplier supplier = new Supplier(System.getenv("ADDR_SUPPLIER"), new Tokens(System.getenv("ADDR_LOGIN")));
        // One thread for each CPU, as the guide says of services that never wait.
        ExecutorService calls = Executors.newFixedThreadPool(fault("few-executors") ? 2 : 48, task -> new Thread(task, "grpc-call"));
        ServerServiceDefinition service = ServerServiceDefinition.builder("shop.Prices")
            .addMethod(method("Price", Int64Value.getDefaultInstance()), ServerCalls.asyncUnaryCall(Main::price))
            .addMethod(method("Quote", StringValue.getDefaultInstance()), ServerCalls.asyncUnaryCall((Int64Value product, StreamObserver<StringValue> out) -> {
                try {
                    out.onNext(StringValue.of(supplier.quote(product.getValue())));
                    out.onCompleted();
                } catch (Exception e) {
                    out.onError(e);
                }
            })).build();
        String[] at = System.getenv("ADDR").split(":");
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(at[0], Integer.parseInt(at[1]))).executor(calls).addService(service).build().start();
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.awaitTermination();
    }

    private static <A extends com.google.protobuf.Message> MethodDescriptor<Int64Value, A> method(String name, A answer) {
        return MethodDescriptor.<Int64Value, A>newBuilder().setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("shop.Prices/" + name)
            .setRequestMarshaller(ProtoUtils.marshaller(Int64Value.getDefaultInstance())).setResponseMarshaller(ProtoUtils.marshaller(answer)).build();
    }

    /** A price is the lowest of a few hundred discounts. */
    private static void price(Int64Value product, StreamObserver<Int64Value> out) {
        CRC32 sum = new CRC32();
        long best = Long.MAX_VALUE;
        for (int discount = 0; discount < 300; discount++) {
            sum.update(("product " + product.getValue() + " discount " + discount).getBytes());
            best = Math.min(best, sum.getValue() % 90_000);
        }
        out.onNext(Int64Value.of(best));
        out.onCompleted();
    }
}
