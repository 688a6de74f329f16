using System;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace BellFoundry
{
    public sealed class Order
    {
        public string Name;
        public readonly TaskCompletionSource<int> Done = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    // A furnace takes orders from a channel, and is done with one in 10 ms. With FAULT=0 there
    // are eight.
    public static class Foundry
    {
        static readonly Channel<Order> orders = Channel.CreateBounded<Order>(200);

        public static void Start()
        {
            for (int i = Environment.GetEnvironmentVariable("FAULT") == "0" ? 8 : 1; i > 0; i--)
                Task.Run(Furnace);
        }

        public static async Task<int> Cast(string name)
        {
            var order = new Order { Name = name };
            await orders.Writer.WriteAsync(order);
            return await order.Done.Task;
        }

        static async Task Furnace()
        {
            while (await orders.Reader.WaitToReadAsync())
                while (orders.Reader.TryRead(out Order order))
                {
                    await Task.Delay(9);
                    order.Done.SetResult(order.Name.Length);
                }
        }
    }

    public static class Program
    {
        public static void Main(string[] args)
        {
            Foundry.Start();
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .Configure(app => app.UseRouting().UseEndpoints(Routes)))
                .Build()
                .Run();
        }

        static void Routes(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/bell/{id}", async context => await context.Response.WriteAsync("weight " + await Foundry.Cast((string)context.Request.RouteValues["id"])));
        }
    }
}
