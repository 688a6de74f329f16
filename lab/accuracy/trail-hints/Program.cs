using System;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace TrailHints
{
    // Heights along hiking trails.
    public sealed class Trails
    {
        public const int Count = 1000;
        const int Points = 400;

        readonly double[][] heights = Enumerable.Range(0, Count).Select(trail =>
        {
            var random = new Random(trail);
            return Enumerable.Range(0, Points).Select(_ => 300 + random.NextDouble() * 2200).ToArray();
        }).ToArray();

        public double Likeness(int one, int other)
        {
            double[] a = heights[one], b = heights[other];
            double product = 0, left = 0, right = 0;
            for (int i = 0; i < a.Length; i++)
            {
                product += a[i] * b[i];
                left += a[i] * a[i];
                right += b[i] * b[i];
            }
            return product / Math.Sqrt(left * right);
        }
    }

    // Which trails are like one that somebody liked.
    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services =>
            {
                services.AddSingleton<Trails>();
                services.AddSingleton<Similarity>();
                services.AddHostedService(all => all.GetRequiredService<Similarity>());
            })
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.Map("/like", at => at.Run(Hint))))
            .Build()
            .RunAsync();

        static Task Hint(HttpContext context)
        {
            var trails = context.RequestServices.GetRequiredService<Trails>();
            var similarity = context.RequestServices.GetRequiredService<Similarity>();
            int liked = int.Parse(context.Request.Path.Value.Trim('/')) % Trails.Count;
            var best = Enumerable.Range(0, Trails.Count)
                .Where(trail => trail != liked)
                .OrderByDescending(trail => trails.Likeness(liked, trail))
                .Take(5);
            return context.Response.WriteAsync(string.Join(", ", best) + " (mean " + similarity.Mean(liked) + ")\n");
        }
    }
}
