using System;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Threading.Tasks;

namespace Weather
{
    // The weather of a region on HttpListener and TPL Dataflow: forecasts of a computing centre over HTTP, reports of stations as text.
    public static class Program
    {
        private static readonly string Fault = Environment.GetEnvironmentVariable("FAULT") ?? "off";
        private static readonly HttpClient Http = new HttpClient { Timeout = TimeSpan.FromSeconds(20) };
        private static readonly Forecasts Forecasts = new Forecasts(Http);
        private static readonly Stations Stations = new Stations();

        public static bool Has(string fault) => Fault == fault;

        public static async Task Main()
        {
            var listener = new HttpListener();
            listener.Prefixes.Add("http://" + Environment.GetEnvironmentVariable("ADDR") + "/");
            listener.Start();
            while (listener.IsListening)
            {
                var context = await listener.GetContextAsync();
                _ = Task.Run(() => Handle(context));
            }
        }

        private static async Task Handle(HttpListenerContext context)
        {
            var answer = context.Response;
            try
            {
                var body = Encoding.UTF8.GetBytes(await Route(context.Request));
                answer.ContentType = "application/json";
                answer.ContentLength64 = body.Length;
                await answer.OutputStream.WriteAsync(body, 0, body.Length);
            }
            catch (Exception e) when (!(e is HttpListenerException) && !(e is IOException))
            {
                Console.Error.WriteLine(e);
                answer.StatusCode = 500;
            }
            catch (Exception)
            {
                // The client has gone.
            }
            answer.Close();
        }

        private static async Task<string> Route(HttpListenerRequest request)
        {
            var words = request.Url.AbsolutePath.Split('/');
            if (words.Length != 3 || !int.TryParse(words[2], out var id))
                return "{}";
            switch (words[1])
            {
                case "places":
                    return "{\"place\":" + id + ",\"metres\":" + id * 37L % 2900 + "}";
                case "forecasts":
                    return await Forecasts.Ask(id);
                case "stations":
                    return "{\"station\":" + id + ",\"mean\":" + Stations.Mean(id) + "}";
                case "warnings": // somebody waits for a warning, for five seconds
                    await Task.Delay(TimeSpan.FromSeconds(5));
                    return "[]";
                default:
                    return "{}";
            }
        }
    }
}
