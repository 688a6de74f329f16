using System;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace KiteOrders
{
    // Takes orders of kites and sends them to the workshop later. Consumers were to have
    // threads of their own, since the workshop's protocol is synchronous: LongRunning gives
    // them one up to their first await. With FAULT=0 they are plain threads.
    public static class Program
    {
        const int Consumers = 30;

        static readonly Channel<string> orders = Channel.CreateBounded<string>(500);

        public static void Main(string[] args)
        {
            string workshop = Environment.GetEnvironmentVariable("ADDR_WORKSHOP");
            bool own = Environment.GetEnvironmentVariable("FAULT") == "0";
            for (int i = 0; i < Consumers; i++)
            {
                var one = new Workshop(workshop);
                if (own)
                    new Thread(() => Consume(one)) { IsBackground = true }.Start();
                else
                    Task.Factory.StartNew(() => ConsumeAsync(one), TaskCreationOptions.LongRunning);
            }
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .Configure(app => app.UseRouting().UseEndpoints(routes =>
                    {
                        routes.MapPost("/order/{kite}", Order);
                        routes.MapGet("/kinds", context => context.Response.WriteAsync("delta rokkaku sled parafoil"));
                    })))
                .Build()
                .Run();
        }

        static Task Order(HttpContext context)
        {
            bool taken = orders.Writer.TryWrite((string)context.Request.RouteValues["kite"]);
            context.Response.StatusCode = taken ? 202 : 200; // 200: the workshop hears of it tomorrow
            return context.Response.WriteAsync(taken ? "ordered" : "noted");
        }

        static async Task ConsumeAsync(Workshop workshop)
        {
            while (await orders.Reader.WaitToReadAsync())
                while (orders.Reader.TryRead(out string kite))
                    workshop.Send(kite);
        }

        static void Consume(Workshop workshop)
        {
            while (true)
                workshop.Send(orders.Reader.ReadAsync().AsTask().Result);
        }
    }

    public sealed class Workshop
    {
        readonly StreamReader answers;
        readonly StreamWriter asks;

        public Workshop(string address)
        {
            string[] at = address.Split(':');
            NetworkStream stream = new TcpClient(at[0], int.Parse(at[1])) { NoDelay = true }.GetStream();
            answers = new StreamReader(stream);
            asks = new StreamWriter(stream) { NewLine = "\n", AutoFlush = true };
        }

        public void Send(string kite)
        {
            asks.WriteLine("KITE " + kite);
            if (answers.ReadLine() == null)
                throw new IOException("the workshop is closed");
        }
    }
}
