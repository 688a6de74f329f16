using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ParishRecords
{
    public sealed class Entry
    {
        public string Name { get; set; }
        public string Event { get; set; }
        public int Year { get; set; }
        public string Witness { get; set; }
    }

    // Baptisms, marriages and burials of all parishes, in memory.
    public static class Registers
    {
        public const int Parishes = 120;
        const int Entries = 2400; // of a parish

        static readonly string[] events = { "baptism", "marriage", "burial" };

        public static readonly List<Entry>[] All = Enumerable.Range(0, Parishes).Select(Make).ToArray();

        static List<Entry> Make(int parish)
        {
            var random = new Random(parish);
            return Enumerable.Range(0, Entries).Select(n => new Entry
            {
                Name = "parishioner " + (parish * Entries + n),
                Event = events[random.Next(events.Length)],
                Year = 1600 + random.Next(300),
                Witness = "neighbour " + random.Next(90_000),
            }).ToList();
        }
    }

    // A register is answered as a document: its JSON is made as a string, wrapped in another
    // with its number of entries, and turned into bytes for the tag and the answer. With
    // FAULT=0 it is written to the response as it is made.
    public static class Program
    {
        static readonly bool Streams = Environment.GetEnvironmentVariable("FAULT") == "0";

        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .Run();

        static void Routes(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/parish/{parish:int}", Register);
            routes.MapGet("/parish/{parish:int}/{entry:int}", context =>
            {
                List<Entry> register = Of(context);
                Entry entry = register[int.Parse((string)context.Request.RouteValues["entry"]) % register.Count];
                return context.Response.WriteAsync(entry.Name + ", " + entry.Event + " in " + entry.Year + "\n");
            });
        }

        static List<Entry> Of(HttpContext context) => Registers.All[int.Parse((string)context.Request.RouteValues["parish"]) % Registers.Parishes];

        static async Task Register(HttpContext context)
        {
            List<Entry> register = Of(context);
            context.Response.ContentType = "application/json";
            if (Streams)
            {
                await JsonSerializer.SerializeAsync(context.Response.Body, new { count = register.Count, entries = register });
                return;
            }
            string entries = JsonSerializer.Serialize(register);
            string document = "{\"count\":" + register.Count + ",\"entries\":" + entries + "}";
            byte[] text = Encoding.UTF8.GetBytes(document);
            using (var md5 = MD5.Create())
                context.Response.Headers["ETag"] = "\"" + Convert.ToBase64String(md5.ComputeHash(text)) + "\"";
            await context.Response.Body.WriteAsync(text, 0, text.Length);
        }
    }
}
