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

namespace GondolaPier
{
    // Who waits for a gondola. A source that runs its continuations at once runs them on the
    // thread that completes it; with FAULT=0 they go to the pool.
    sealed class Passenger
    {
        static readonly TaskCreationOptions how = Environment.GetEnvironmentVariable("FAULT") == "0" ? TaskCreationOptions.RunContinuationsAsynchronously : TaskCreationOptions.None;

        public readonly string Name;
        public readonly TaskCompletionSource<int> Seat = new TaskCompletionSource<int>(how);

        public Passenger(string name) => Name = name;
    }

    // The one thread that gives seats: it wakes passengers in the order they came.
    public sealed class Pier
    {
        readonly BlockingCollection<Passenger> waiting = new BlockingCollection<Passenger>();
        readonly TicketOffice office;
        int gondola;

        public Pier(TicketOffice office)
        {
            this.office = office;
            new Thread(GiveSeats) { IsBackground = true, Name = "gondolier" }.Start();
        }

        void GiveSeats()
        {
            foreach (Passenger next in waiting.GetConsumingEnumerable())
                next.Seat.SetResult(gondola++ / 6);
        }

        public async Task<string> Board(string name)
        {
            var passenger = new Passenger(name);
            waiting.Add(passenger);
            int boat = await passenger.Seat.Task;
            return StampTicket(boat, name);
        }

        string StampTicket(int boat, string name) => name + " in gondola " + boat + ": " + office.Stamp(boat, name);
    }

    // Stamps tickets: a service that speaks lines and takes 9 ms.
    public sealed class TicketOffice
    {
        readonly string[] at = Environment.GetEnvironmentVariable("ADDR_OFFICE").Split(':');
        readonly ConcurrentBag<(StreamReader, StreamWriter)> lines = new ConcurrentBag<(StreamReader, StreamWriter)>();
        long stamped;

        public long Stamped => Interlocked.Read(ref stamped);

        public string Stamp(int boat, string name)
        {
            if (!lines.TryTake(out var line))
            {
                var client = new TcpClient(at[0], int.Parse(at[1])) { NoDelay = true };
                line = (new StreamReader(client.GetStream()), new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true });
            }
            line.Item2.WriteLine("STAMP " + boat + " " + name);
            string answer = line.Item1.ReadLine() ?? throw new IOException("the office is closed");
            lines.Add(line);
            Interlocked.Increment(ref stamped);
            return answer;
        }
    }

    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services.AddSingleton<TicketOffice>().AddSingleton<Pier>())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .RunAsync();

        static void Routes(IEndpointRouteBuilder routes)
        {
            var pier = routes.ServiceProvider.GetRequiredService<Pier>();
            var office = routes.ServiceProvider.GetRequiredService<TicketOffice>();
            routes.MapPost("/board/{name}", async context => await context.Response.WriteAsync(await pier.Board((string)context.Request.RouteValues["name"])));
            routes.MapGet("/stamped", context => context.Response.WriteAsync(office.Stamped.ToString()));
        }
    }
}
