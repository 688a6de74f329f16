using System;
using System.IO;
using System.Net;
using System.Net.Http;
using System.Threading.Tasks;

namespace Notary
{
    // The client of the authority that signs deeds. The old one handles one call at a time.
    public sealed class SigningClient
    {
        private static readonly string Address = "http://" + Environment.GetEnvironmentVariable("ADDR_AUTHORITY") + "/signatures/";
        private readonly HttpClient http;
        private readonly object oneCall = new object();

        public SigningClient(HttpClient http) => this.http = http;

        public Task<string> SignAsync(int deed) => http.GetStringAsync(Address + deed);

        public string SignOneByOne(int deed)
        {
            lock (oneCall)
            {
                var request = WebRequest.CreateHttp(Address + deed);
                using var response = request.GetResponse();
                using var reader = new StreamReader(response.GetResponseStream());
                return reader.ReadToEnd();
            }
        }
    }
}
